const channelName = 'millrace.uploads';
const answerTimeoutMs = 600;

type TabMessage = { readonly ask: true } | { readonly held: readonly string[] };

const channel = new BroadcastChannel(channelName);

export function followOtherTabs({
  heldHere,
  onHeld,
}: {
  readonly heldHere: () => readonly string[];
  readonly onHeld: (held: readonly string[]) => void;
}): void {
  channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if ('ask' in data) channel.postMessage({ held: heldHere() } satisfies TabMessage);
    else onHeld(data.held);
  });
}

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
