package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"mime/multipart"
	"net/http"
	"os"
)

func main() {
	text, err := os.ReadFile("fr.vtt")
	if err != nil {
		log.Fatal(err)
	}
	body := &bytes.Buffer{}
	form := multipart.NewWriter(body)
	part, err := form.CreateFormFile("file", "fr.vtt")
	if err != nil {
		log.Fatal(err)
	}
	part.Write(text)
	form.Close()
	url := "http://localhost:8080/videos/" + os.Getenv("VIDEO_ID") + "/captions/fr"
	request, err := http.NewRequest("POST", url, body)
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth(os.Getenv("KEY"), "")
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatal(response.Status)
	}
	var caption struct{ URI string }
	if err := json.NewDecoder(response.Body).Decode(&caption); err != nil {
		log.Fatal(err)
	}
	fmt.Println(caption.URI)
}
