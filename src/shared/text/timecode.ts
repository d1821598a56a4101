interface Timecode {
  /** May have a fraction. */
  readonly seconds: number;
  /** Frames after `seconds`. */
  readonly frames: number;
}

export const timecodePattern = /^(?:\d{2,3}:\d{2}:\d{2}(?:\.\d{1,3}|:\d{1,2})?|\d{1,7})$/;

/** Parses `HH:MM:SS`, `HH:MM:SS.mmm`, `HH:MM:SS:frames` or whole seconds. */
export function parseTimecode(text: string): Timecode | undefined {
  if (!timecodePattern.test(text)) return undefined;
  const [first = 0, minutes, seconds = 0, frames = 0] = text.split(':').map(Number);
  if (minutes === undefined) return { seconds: first, frames: 0 };
  return { seconds: first * 3600 + minutes * 60 + seconds, frames };
}

/** Frames count only when the frame rate is known. */
export function timecodeSeconds({ seconds, frames }: Timecode, frameRate: number | undefined): number {
  return frameRate === undefined || frameRate <= 0 ? seconds : seconds + frames / frameRate;
}
