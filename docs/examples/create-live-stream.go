package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(`{"name": "My first stream"}`)
	request, err := http.NewRequest("POST", "http://localhost:8080/live-streams", body)
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth(os.Getenv("KEY"), "")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatal(response.Status)
	}
	var stream struct {
		LiveStreamID, StreamKey string
		Assets                  struct{ Player string }
	}
	if err := json.NewDecoder(response.Body).Decode(&stream); err != nil {
		log.Fatal(err)
	}
	fmt.Println(stream.LiveStreamID, stream.StreamKey, stream.Assets.Player)
}
