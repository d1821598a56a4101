package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
)

const pieceBytes = 50 * 1024 * 1024

func call(method, path string, body io.Reader, header http.Header, answer any) error {
	request, err := http.NewRequest(method, "http://localhost:8080/videos/"+os.Getenv("VIDEO_ID")+path, body)
	if err != nil {
		return err
	}
	request.Header = header
	request.SetBasicAuth(os.Getenv("KEY"), "")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

func send(file *os.File, from, to, total int64) error {
	body := &bytes.Buffer{}
	form := multipart.NewWriter(body)
	part, err := form.CreateFormFile("file", file.Name())
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, io.NewSectionReader(file, from, to-from)); err != nil {
		return err
	}
	form.Close()
	header := http.Header{}
	header.Set("Content-Type", form.FormDataContentType())
	header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, total))
	return call("POST", "/source", body, header, &struct{}{})
}

func main() {
	// Run it again after an interruption: it continues with what is missing.
	var status struct {
		Ingest struct{ ReceivedBytes []struct{ From int64 } }
	}
	if err := call("GET", "/status", nil, http.Header{}, &status); err != nil {
		log.Fatal(err)
	}
	arrived := map[int64]bool{}
	for _, piece := range status.Ingest.ReceivedBytes {
		arrived[piece.From] = true
	}
	file, err := os.Open("film.mp4")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	for from := int64(0); from < info.Size(); from += pieceBytes {
		if arrived[from] {
			continue
		}
		to := min(from+pieceBytes, info.Size())
		if err := send(file, from, to, info.Size()); err != nil {
			log.Fatal(err)
		}
		fmt.Println(to, "of", info.Size(), "bytes")
	}
}
