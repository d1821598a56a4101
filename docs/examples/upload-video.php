<?php

function post(string $path, string|array $body, array $headers = []): array
{
    $request = curl_init("http://localhost:8080$path");
    curl_setopt_array($request, [
        CURLOPT_USERPWD => getenv('KEY') . ':',
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_FAILONERROR => true,
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $answer = curl_exec($request) ?: throw new Exception(curl_error($request));
    return json_decode($answer, true);
}

$video = post('/videos', json_encode(['title' => 'My first video']), ['Content-Type: application/json']);
$video = post("/videos/{$video['videoId']}/source", ['file' => new CURLFile('film.mp4')]);
echo "{$video['videoId']} {$video['assets']['player']}\n";
