<?php

$server = 'http://localhost:8080';
$path = '/videos?pageSize=100';
while ($path !== null) {
    $request = curl_init($server . $path);
    curl_setopt_array($request, [
        CURLOPT_USERPWD => getenv('KEY') . ':',
        CURLOPT_FAILONERROR => true,
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $answer = curl_exec($request) ?: throw new Exception(curl_error($request));
    $page = json_decode($answer, true);
    foreach ($page['data'] as $video) {
        echo "{$video['videoId']} {$video['title']}\n";
    }
    $path = array_column($page['pagination']['links'], 'uri', 'rel')['next'] ?? null;
}
