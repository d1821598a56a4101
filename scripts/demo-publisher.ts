import { type Publisher, startPublisher } from './ffmpeg.ts';

/** Publishes ffmpeg's test picture, which has a clock in it, with a beep each second. What ffmpeg says stands on the terminal. */
export function publishTestPicture(ffmpegPath: string, address: string): Publisher {
  const args = [
    ...['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:beep_factor=4:sample_rate=48000'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', '60', '-keyint_min', '60', '-sc_threshold', '0'],
    ...['-b:v', '2500k', '-maxrate', '2500k', '-bufsize', '2500k', '-c:a', 'aac', '-b:a', '128k'],
  ];
  return startPublisher(ffmpegPath, args, address);
}
