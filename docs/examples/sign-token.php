<?php

function encode(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

function signToken(string $signingKeyId, string $privateKey, array $claims): string
{
    $header = ['alg' => 'ES256', 'kid' => $signingKeyId];
    $text = encode(json_encode($header)) . '.' . encode(json_encode($claims));
    openssl_sign($text, $der, $privateKey, OPENSSL_ALGO_SHA256);
    // OpenSSL returns the two numbers of the signature in DER, a token has 32 bytes of each.
    $length = ord($der[3]);
    $numbers = [substr($der, 4, $length), substr($der, 6 + $length)];
    $bytes = array_map(fn ($number) => str_pad(ltrim($number, "\0"), 32, "\0", STR_PAD_LEFT), $numbers);
    return $text . '.' . encode(implode($bytes));
}
