package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type page struct {
	Data       []struct{ VideoID, Title string }
	Pagination struct {
		Links []struct{ Rel, URI string }
	}
}

func fetch(path string) (found page, err error) {
	request, err := http.NewRequest("GET", "http://localhost:8080"+path, nil)
	if err != nil {
		return found, err
	}
	request.SetBasicAuth(os.Getenv("KEY"), "")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return found, fmt.Errorf("%s: %s", path, response.Status)
	}
	return found, json.NewDecoder(response.Body).Decode(&found)
}

func main() {
	for next := "/videos?pageSize=100"; next != ""; {
		found, err := fetch(next)
		if err != nil {
			log.Fatal(err)
		}
		for _, video := range found.Data {
			fmt.Println(video.VideoID, video.Title)
		}
		next = ""
		for _, link := range found.Pagination.Links {
			if link.Rel == "next" {
				next = link.URI
			}
		}
	}
}
