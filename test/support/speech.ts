import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

/** 25 s of audio with a quiet place at 9 s, beside a small picture, and 3 s without audio. */
export async function makeSpeech(): Promise<{ readonly speech: Buffer; readonly silentVideo: Buffer }> {
  const folder = await makeTempDir();
  const path = (name: string) => join(folder, name);
  const sound = "aevalsrc='if(between(t,8.7,9.3),0,0.5*sin(2*PI*300*t))':s=44100:d=25";
  const picture = ['-y', '-f', 'lavfi', '-i', 'color=c=blue:s=160x90:r=5:d=25'];
  const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '10'];
  const audio = ['-f', 'lavfi', '-i', sound, ...video, '-c:a', 'aac', '-aac_coder', 'fast'];
  await runToEnd(ffmpegPath, [...picture, ...audio, path('speech.mp4')]);
  await runToEnd(ffmpegPath, [...picture, '-t', '3', ...video, path('silent.mp4')]);
  const speech = await readFile(path('speech.mp4'));
  const silentVideo = await readFile(path('silent.mp4'));
  await removeDir(folder);
  return { speech, silentVideo };
}
