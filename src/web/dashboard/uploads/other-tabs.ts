/** How tabs of one browser tell each other what they are uploading. */
const channelName = 'millrace.uploads';
const answerTimeoutMs = 600;

type TabMessage =
  | { readonly ask: true }
  /** Ids of videos that the sender uploads, or holds the file of. */
  | { readonly held: readonly string[] };

const channel = new BroadcastChannel(channelName);

/** Answers other tabs, and hears what they answer, whenever that comes. */
export function followOtherTabs({
  heldHere,
  onHeld,
}: {
  /** Ids of the videos that this tab is uploading. */
  readonly heldHere: () => readonly string[];
  /** Told ids of videos that another one is uploading. */
  readonly onHeld: (held: readonly string[]) => void;
}): void {
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if ('ask' in data) channel.postMessage({ held: heldHere() } satisfies TabMessage);
    else onHeld(data.held);
  });
}

/** Ids of videos that other tabs are uploading. Takes about half a second. */
export function uploadsInOtherTabs(): Promise<ReadonlySet<string>> {
  return new Promise(resolve => {
    const held = new Set<string>();
    const hear = ({ data }: MessageEvent<TabMessage>) => {
      if ('held' in data) for (const videoId of data.held) held.add(videoId);
    };
    channel.addEventListener('message', hear);
    channel.postMessage({ ask: true } satisfies TabMessage);
    setTimeout(() => {
      channel.removeEventListener('message', hear);
      resolve(held);
    }, answerTimeoutMs);
  });
}
