package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"example.com/greet"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() { <-stop; os.Exit(0) }()
	page, err := os.ReadFile("templates/page.html")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, greet.Page("you"), string(page)) })
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
