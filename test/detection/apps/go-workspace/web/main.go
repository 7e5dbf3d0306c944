package main

import (
	"fmt"
	"net/http"
	"os"

	"example.com/words"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, words.Greeting) })
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
