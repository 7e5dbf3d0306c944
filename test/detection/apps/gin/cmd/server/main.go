package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Gin listens on PORT where it is set.
func main() {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.GET("/", func(c *gin.Context) { c.String(http.StatusOK, "Hello, world") })
	if err := router.Run(); err != nil {
		panic(err)
	}
}
