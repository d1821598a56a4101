<?php

function call(string $path, array $options = []): array
{
    $request = curl_init('http://localhost:8080/videos/' . getenv('VIDEO_ID') . $path);
    curl_setopt_array($request, $options + [
        CURLOPT_USERPWD => getenv('KEY') . ':',
        CURLOPT_FAILONERROR => true,
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $answer = curl_exec($request) ?: throw new Exception(curl_error($request));
    return json_decode($answer, true);
}

// Run it again after an interruption: it continues with what is missing.
$arrived = array_column(call('/status')['ingest']['receivedBytes'] ?? [], 'from');
$pieceBytes = 50 * 1024 * 1024;
$total = filesize('film.mp4');
$file = fopen('film.mp4', 'rb');
for ($from = 0; $from < $total; $from += $pieceBytes) {
    if (in_array($from, $arrived)) {
        continue;
    }
    $piece = stream_get_contents($file, $pieceBytes, $from);
    $to = $from + strlen($piece);
    call('/source', [
        CURLOPT_HTTPHEADER => ['Content-Range: bytes ' . $from . '-' . ($to - 1) . "/$total"],
        CURLOPT_POSTFIELDS => ['file' => new CURLStringFile($piece, 'film.mp4')],
    ]);
    echo "$to of $total bytes\n";
}
