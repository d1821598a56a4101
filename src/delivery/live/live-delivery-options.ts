import type { AddressOf } from '../../http/listener/client-address.ts';
import type { ReadableFiles } from '../../shared/files/opened-file.ts';
import type { WatchedChannels } from '../channel/watched-channels.ts';
import type { PlayerFiles } from '../pages/player-files.ts';
import type { WatchSource } from '../pages/watch-source.ts';
import type { PendingResponses } from '../responses/pending-responses.ts';
import type { ResponseSender } from '../responses/response-sender.ts';
import type { LiveGateOptions } from './live-gate.ts';
import type { LiveSource } from './live-source.ts';
import type { StateEvents } from './state-events.ts';
import type { LiveFrameSource, LiveStoryboardSource } from './thumbnails.ts';
import type { ViewerCount } from './viewer-count.ts';

export interface LiveDeliveryOptions extends LiveGateOptions {
  readonly storage: ReadableFiles;
  readonly live: LiveSource;
  readonly frames: LiveFrameSource;
  readonly storyboards: LiveStoryboardSource;
  readonly watch: WatchSource;
  readonly watchedChannels: WatchedChannels;
  readonly viewersShown: (liveStreamId: string) => Promise<number | undefined>;
  readonly addressOf: AddressOf;
  readonly viewers: ViewerCount;
  readonly events: StateEvents;
  readonly sender: ResponseSender;
  readonly pending: PendingResponses;
  readonly files: () => PlayerFiles;
  readonly publicUrl: () => string;
}
