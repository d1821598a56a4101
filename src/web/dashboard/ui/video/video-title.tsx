import { titleOf } from '../../format/video-title.ts';

/** Titles that the server gives to recordings: `Harbour, 29 November 2026, 14:05 UTC`. */
const recordingTitle = /^(.+), (\d{1,2} \p{L}+ \d{4}, \d{2}:\d{2} UTC)$/u;

const separator = ', ';

/** The title of a video in a list. Of a recording, the name is shortened and never the time. */
export function VideoTitle({ video }: { video: { readonly title: string } }) {
  const title = titleOf(video);
  const [, name, time] = recordingTitle.exec(title) ?? [];
  if (name === undefined) return <>{title}</>;
  return (
    <>
      <span class="recording-name">
        <bdi>{name}</bdi>
        <span class="for-readers">{separator}</span>
      </span>
      <span class="recording-time">
        <bdi>{time}</bdi>
      </span>
    </>
  );
}
