<?php

$request = curl_init('http://localhost:8080/live-streams');
curl_setopt_array($request, [
    CURLOPT_USERPWD => getenv('KEY') . ':',
    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode(['name' => 'My first stream']),
    CURLOPT_FAILONERROR => true,
    CURLOPT_RETURNTRANSFER => true,
]);
$answer = curl_exec($request) ?: throw new Exception(curl_error($request));
$stream = json_decode($answer, true);
echo "{$stream['liveStreamId']} {$stream['streamKey']} {$stream['assets']['player']}\n";
