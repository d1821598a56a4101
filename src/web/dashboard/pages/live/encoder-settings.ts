/** A command that publishes a file in a loop with settings that suit live streams. */
export function ffmpegCommand(server: string, key: string): string {
  return [
    'ffmpeg -re -stream_loop -1 -i input.mp4',
    '-c:v libx264 -preset veryfast -pix_fmt yuv420p',
    '-b:v 4500k -maxrate 4500k -bufsize 9000k',
    '-force_key_frames "expr:gte(t,n_forced*2)" -bf 2',
    '-c:a aac -b:a 160k -ar 48000',
    `-f flv "${server}/${key}"`,
  ].join(' \\\n  ');
}

/** Setting, value, reason. */
export const encoderSettings: readonly (readonly [setting: string, value: string, why: string])[] = [
  ['Video encoder', 'x264 or a hardware H.264', 'Plays everywhere, and is passed on as it is'],
  ['Rate control', 'CBR', 'A steady rate keeps viewers from stalling'],
  ['Bitrate', '4500 kbit/s for 1080p, 2500 for 720p', 'At most two thirds of your upload'],
  ['Keyframe interval', '2 s', 'Viewers start at keyframes'],
  ['Tune', 'zerolatency', 'Where delay matters most'],
  ['Audio', 'AAC, 160 kbit/s, 48 kHz', 'Passed on as it is'],
];
