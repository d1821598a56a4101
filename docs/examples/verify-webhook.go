package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

var signature = regexp.MustCompile(`^t=(\d+),v1=([0-9a-f]{64})$`)

// isGenuine checks that the server sent a request in the last five minutes. body is its raw bytes.
func isGenuine(header http.Header, body []byte, secret string) bool {
	isSigned := func(text []byte, expected string) bool {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(text)
		return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(expected))
	}
	if !isSigned(body, header.Get("X-Api-Video-Signature")) {
		return false
	}
	parts := signature.FindStringSubmatch(header.Get("Millrace-Signature"))
	if parts == nil {
		return false
	}
	sentAt, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || time.Since(time.Unix(sentAt, 0)).Abs() > 5*time.Minute {
		return false
	}
	return isSigned([]byte(parts[1]+"."+string(body)), parts[2])
}
