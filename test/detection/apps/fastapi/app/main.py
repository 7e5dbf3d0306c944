from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def page():
    return "Hello, world"
