import { t } from '../../texts/live.ts';

/** Replaces the inputs of {@link ffmpegCommand}. */
export const ffmpegFileInput = '-re -stream_loop -1 -i video.mp4';

/** Publishes a test picture with sound, and runs as it stands. */
export function ffmpegCommand(server: string, key: string): string {
  return [
    'ffmpeg',
    '-re -f lavfi -i testsrc2=size=1280x720:rate=30',
    '-re -f lavfi -i sine=frequency=440:sample_rate=48000',
    '-c:v libx264 -preset veryfast -pix_fmt yuv420p',
    '-b:v 2500k -maxrate 2500k -bufsize 5000k',
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
  return [...videoSettings(), ...(isWebRtc ? webRtcSettings() : audioSettings())];
}

function videoSettings(): readonly EncoderSetting[] {
  return [
    [t('setup.videoEncoder'), t('setup.videoEncoderValue'), t('setup.playsEverywhere')],
    [t('setup.rateControl'), 'CBR', t('setup.rateControlWhy')],
    [t('live.bitrate'), t('setup.bitrateValue'), t('setup.bitrateWhy')],
    [t('setup.keyframeInterval'), '2 s', t('setup.keyframeWhy')],
    [t('setup.tune'), 'zerolatency', t('setup.tuneWhy')],
  ];
}

function audioSettings(): readonly EncoderSetting[] {
  return [
    [t('setup.bFrames'), t('setup.bFramesValue'), t('setup.bFramesWhy')],
    [t('setup.audio'), 'AAC, 160 kbit/s, 48 kHz', t('setup.playsEverywhere')],
  ];
}

function webRtcSettings(): readonly EncoderSetting[] {
  return [
    [t('setup.bFrames'), '0', t('setup.noBFrames')],
    [t('setup.audio'), 'Opus, 160 kbit/s', t('setup.opusWhy')],
  ];
}
