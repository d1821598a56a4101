export function ffmpegCommand(server: string, key: string): string {
  return [
    'ffmpeg -re -stream_loop -1 -i input.mp4',
    '-c:v libx264 -preset veryfast -pix_fmt yuv420p',
    '-b:v 4500k -maxrate 4500k -bufsize 9000k',
    '-force_key_frames "expr:gte(t,n_forced*2)" -bf 2',
    '-c:a aac -b:a 160k -ar 48000',
    server.startsWith('srt:') ? `-f mpegts "${srtAddress(server, key)}"` : `-f flv "${server}/${key}"`,
  ].join(' \\\n  ');
}

/** SRT has no field for the key: the address carries it. */
export function srtAddress(server: string, key: string): string {
  return `${server}?streamid=${key}`;
}

type EncoderSetting = readonly [setting: string, value: string, why: string];

/** Recommends H.264 with AAC, or for WebRTC, which has neither B-frames nor AAC, with Opus. */
export function encoderSettings(isWebRtc: boolean): readonly EncoderSetting[] {
  return [...videoSettings, ...(isWebRtc ? webRtcSettings : audioSettings)];
}

const videoSettings: readonly EncoderSetting[] = [
  ['Video encoder', 'x264 or a hardware H.264', 'Plays everywhere without transcoding'],
  ['Rate control', 'CBR', 'A constant bitrate prevents stalls'],
  ['Bitrate', '4500 kbit/s for 1080p, 2500 for 720p', 'Up to two thirds of your upload bandwidth'],
  ['Keyframe interval', '2 s', 'Playback starts at keyframes'],
  ['Tune', 'zerolatency', 'For the lowest latency'],
];

const audioSettings: readonly EncoderSetting[] = [
  ['B-frames', '0 to 2', 'Each one adds a frame of latency'],
  ['Audio', 'AAC, 160 kbit/s, 48 kHz', 'Plays everywhere without transcoding'],
];

const webRtcSettings: readonly EncoderSetting[] = [
  ['B-frames', '0', 'WebRTC has none'],
  ['Audio', 'Opus, 160 kbit/s', 'The only audio of WebRTC; players that lack it get AAC'],
];
