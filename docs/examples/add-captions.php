<?php

$request = curl_init('http://localhost:8080/videos/' . getenv('VIDEO_ID') . '/captions/fr');
curl_setopt_array($request, [
    CURLOPT_USERPWD => getenv('KEY') . ':',
    CURLOPT_POSTFIELDS => ['file' => new CURLFile('fr.vtt')],
    CURLOPT_FAILONERROR => true,
    CURLOPT_RETURNTRANSFER => true,
]);
$answer = curl_exec($request) ?: throw new Exception(curl_error($request));
echo json_decode($answer, true)['uri'], "\n";
