from flask import Flask


def create_app():
    app = Flask(__name__)
    app.add_url_rule("/", view_func=lambda: "Hello, world")
    return app
