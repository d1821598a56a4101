<?php

/** Checks that the server sent this request in the last five minutes. `$body` is `file_get_contents('php://input')`. */
function isGenuine(array $server, string $body, string $secret): bool
{
    $sign = fn (string $text) => hash_hmac('sha256', $text, $secret);
    if (!hash_equals($sign($body), $server['HTTP_X_API_VIDEO_SIGNATURE'] ?? '')) {
        return false;
    }
    if (!preg_match('/^t=(\d+),v1=([0-9a-f]{64})$/D', $server['HTTP_MILLRACE_SIGNATURE'] ?? '', $parts)) {
        return false;
    }
    return abs(time() - (int) $parts[1]) <= 300 && hash_equals($sign("$parts[1].$body"), $parts[2]);
}
