package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
)

type video struct {
	VideoID string
	Assets  struct{ Player string }
}

func post(path, contentType string, body io.Reader) (created video, err error) {
	request, err := http.NewRequest("POST", "http://localhost:8080"+path, body)
	if err != nil {
		return created, err
	}
	request.SetBasicAuth(os.Getenv("KEY"), "")
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return created, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return created, fmt.Errorf("%s: %s", path, response.Status)
	}
	return created, json.NewDecoder(response.Body).Decode(&created)
}

// Streams a file as a form, without holding it in memory.
func formOf(file *os.File) (contentType string, body io.Reader) {
	body, pipe := io.Pipe()
	form := multipart.NewWriter(pipe)
	go func() {
		part, err := form.CreateFormFile("file", file.Name())
		if err == nil {
			_, err = io.Copy(part, file)
		}
		if err == nil {
			err = form.Close()
		}
		pipe.CloseWithError(err)
	}()
	return form.FormDataContentType(), body
}

func main() {
	created, err := post("/videos", "application/json", strings.NewReader(`{"title": "My first video"}`))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("film.mp4")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	contentType, body := formOf(file)
	uploaded, err := post("/videos/"+created.VideoID+"/source", contentType, body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(uploaded.VideoID, uploaded.Assets.Player)
}
