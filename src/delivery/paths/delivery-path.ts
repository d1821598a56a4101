import type { ChannelDelivery } from '../channel/channel-delivery.ts';
import type { LiveDelivery } from '../live/live-delivery.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { VodDelivery } from '../vod/vod-delivery.ts';
import { type PathDescription, sessionDescription } from './shared-descriptions.ts';

/** Answers requests of viewers. */
export interface DeliveryHandlers {
  readonly channels: ChannelDelivery;
  readonly live: LiveDelivery;
  readonly vod: VodDelivery;
  sendAsset(exchange: Exchange, name: string): void;
  sendLogo(exchange: Exchange, playerId: string, extension: 'png' | 'jpg'): void;
  sendFrontPage(exchange: Exchange, query: string): void;
  sendSample(exchange: Exchange): void;
  sendElement(exchange: Exchange): void;
  sendMissing(exchange: Exchange, caching: string): void;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** Parameters of a path by name. Those of private forms are there if the path has one. */
export type ParametersOf<Path extends string> = Readonly<Record<NamesIn<Path>, string>> & {
  readonly privateToken?: string;
  readonly session?: string;
};

type Handle<Path extends string> = (
  to: DeliveryHandlers,
  exchange: Exchange,
  parameters: ParametersOf<Path>,
  query: string,
) => void;

export interface DeliveryPath {
  readonly path: string;
  /** Label of requests in logs and metrics. */
  readonly kind: string;
  readonly handle: Handle<string>;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** Absent for a path that is not documented. */
  readonly description: PathDescription | undefined;
}

const id = '[0-9A-Za-z]{22}';
/** A private token (UUID), or a signed one (JSON Web Token). */
const privateToken = '[0-9a-f-]{36}|[\\w-]+\\.[\\w-]+\\.[\\w-]*';
const patterns: Readonly<Record<string, string>> = {
  videoId: `vi${id}`,
  liveStreamId: `li${id}`,
  playerId: `pl${id}`,
  privateToken,
  session: '[\\w-]{1,64}',
  broadcastId: '[^/]{1,64}',
  rendition: 'source|audio(?:-[a-z]+)?(?:-\\d{1,3})?|\\d{2,4}p(?:-\\d{1,3})?',
  name: '[^/]{1,64}',
  sheet: '\\d{1,9}',
  slots: '[1-9]|1\\d|20',
  height: '\\d{1,5}',
  language: '[A-Za-z0-9-]{2,35}',
  extension: 'png|jpg',
  slug: '[a-z0-9]+(?:-[a-z0-9]+)*',
  color: '[0-9a-f]{6}',
};
const videoPatterns: Readonly<Record<string, string>> = {
  ...patterns,
  rendition: '[0-9a-z-]{1,16}',
  name: '[\\w-][\\w.-]{0,63}',
};

/** @param pattern for parameters of another form than usual; those that are missing are `''` */
export function deliveryPath<const Path extends string>(
  path: Path,
  kind: string,
  handle: Handle<Path>,
  description?: PathDescription,
  pattern?: RegExp,
): DeliveryPath {
  const known = path.startsWith('/vod/') ? videoPatterns : patterns;
  const source = path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, (_, name: string) => `(${known[name]})`);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return {
    path,
    kind,
    handle: handle as Handle<string>,
    pattern: pattern ?? new RegExp(`^${source}$`),
    names,
    description,
  };
}

/** The same at another path, with the parameters of private resources. */
export function privateForm(path: string, { kind, handle, description }: DeliveryPath): DeliveryPath {
  return deliveryPath(
    path,
    kind,
    handle,
    description && {
      ...description,
      summary: `${description.summary}, private`,
      query: { ...description.query, ...sessionDescription.query },
      headers: { ...description.headers, ...sessionDescription.headers },
    },
  );
}
