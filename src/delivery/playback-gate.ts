import type { Clock } from '../shared/clock.ts';
import type { PlaybackPolicy, ViewerLimits } from '../shared/playback-policy.ts';
import { PlaybackRestrictions, type PlaybackRestrictionsOptions } from './playback-restrictions.ts';
import type { PrivateAccess } from './private-sessions.ts';
import type { ViewerRequest } from './responses/exchange.ts';
import { isSignedToken, type SignedClaims, type SignedTokens } from './signed-tokens.ts';
import { clientOf, TokenGate, type TokenGateOptions } from './token-gate.ts';
import { viewerRefusals } from './viewer-refusals.ts';

/** A video or live stream, as its viewers' requests are checked. */
export interface PlaybackResource {
  readonly id: string;
  readonly projectId: string;
  readonly public: boolean;
  /** Policy of the resource, or else of its project. */
  readonly policy: PlaybackPolicy | undefined;
  /** Limits of the viewer who made this clip. They hold for private tokens: whoever signs a token decides again. */
  readonly limits: ViewerLimits | undefined;
  /** Id of the video or live stream that it is a clip of. */
  readonly clippedFrom: string | undefined;
}

interface PlaybackRequest {
  readonly request: ViewerRequest;
  /** Private or signed. */
  readonly token: string | undefined;
  readonly query: URLSearchParams;
  readonly pathSession?: string | undefined;
  /** The request claims an unused private token. */
  readonly mayClaimToken: boolean;
  readonly cookiePath: string;
  /** True for a page or playlist, for which a hook may be asked. */
  readonly beginsPlayback: boolean;
}

export interface PlaybackAdmission {
  readonly access: PrivateAccess | undefined;
  readonly headers: readonly string[];
  /** The viewer passed all of them, or is the owner. Empty when everybody may play. */
  readonly policies: readonly PlaybackPolicy[];
  /** True when a hook admitted this viewer: other viewers may be refused. */
  readonly isDecidedByHook: boolean;
  /** Undefined unless a signed token names one. */
  readonly viewer?: string | undefined;
  /** Present with a signed token. */
  readonly limits?: ViewerLimits | undefined;
}

/** Unlike what does not exist, this is told to the viewer. */
export class PlaybackRefusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

interface PlayDecision {
  /** False where the project has no hook. */
  readonly isAsked: boolean;
  readonly refusal: string | undefined;
}

/** Answers at once where nothing is asked. */
type AskPlayHook = (
  viewer: {
    readonly projectId: string;
    readonly resourceId: string;
    readonly clippedFrom: string | undefined;
    readonly token: string | undefined;
    readonly client: string;
    readonly viewer: string | undefined;
  },
  request: ViewerRequest,
) => Promise<PlayDecision> | PlayDecision;

export interface PlaybackGateOptions extends TokenGateOptions, PlaybackRestrictionsOptions {
  readonly signedTokens: SignedTokens;
  readonly askPlayHook: AskPlayHook;
  /** Policies do not hold for owners, who see their videos and live streams in the dashboard. */
  readonly isOwner: (request: ViewerRequest, projectId: string) => Promise<boolean> | false;
}

type Answer = PlaybackAdmission | PlaybackRefusal | undefined;

/** Decides for all protocols who may play what. */
export class PlaybackGate {
  readonly #tokens: TokenGate;
  readonly #signedTokens: SignedTokens;
  readonly #restrictions: PlaybackRestrictions;
  readonly #askPlayHook: AskPlayHook;
  readonly #clock: Clock;
  readonly #isOwner: PlaybackGateOptions['isOwner'];

  constructor(options: PlaybackGateOptions) {
    this.#tokens = new TokenGate(options);
    this.#signedTokens = options.signedTokens;
    this.#restrictions = new PlaybackRestrictions(options);
    this.#askPlayHook = options.askPlayHook;
    this.#isOwner = options.isOwner;
    this.#clock = options.clock;
  }

  /** Private resources need their token, public ones must have none. Answers at once where nothing is looked up. */
  admit(resource: PlaybackResource, requested: PlaybackRequest): Promise<Answer> | Answer {
    const answer = this.#admitByAccess(resource, requested);
    if (!requested.beginsPlayback) return answer;
    return answer instanceof Promise
      ? answer.then(admission => this.#admitByHook(resource, requested, admission))
      : this.#admitByHook(resource, requested, answer);
  }

  #admitByHook(
    { id, projectId, clippedFrom }: PlaybackResource,
    { request, token }: Pick<PlaybackRequest, 'request' | 'token'>,
    answer: Answer,
  ): Promise<Answer> | Answer {
    if (answer === undefined || answer instanceof PlaybackRefusal) return answer;
    const { viewer } = answer;
    const requested = { projectId, resourceId: id, clippedFrom, token, client: clientOf(request), viewer };
    const decide = ({ isAsked, refusal }: PlayDecision): Answer => {
      if (refusal !== undefined) return new PlaybackRefusal(refusal);
      return isAsked ? { ...answer, isDecidedByHook: true } : answer;
    };
    const decision = this.#askPlayHook(requested, request);
    return decision instanceof Promise ? decision.then(decide) : decide(decision);
  }

  #admitByAccess(resource: PlaybackResource, requested: PlaybackRequest): Promise<Answer> | Answer {
    const { token } = requested;
    if (resource.public !== (token === undefined)) return undefined;
    if (token !== undefined) return this.#admitHolder(resource, requested, token);
    return resource.policy === undefined
      ? open
      : this.#restrict(open, resource, requested.request, [resource.policy]);
  }

  /** Rechecks an admitted viewer. */
  async stillAdmits(
    resource: PlaybackResource,
    access: PrivateAccess | undefined,
    request: ViewerRequest,
  ): Promise<boolean> {
    if (resource.public) return this.#isAdmitted(this.admit(resource, publicRequest(request)));
    if (access === undefined) return false;
    if (isSignedToken(access.token))
      return this.#isAdmitted(this.#admitSigned(resource, access.token, request));
    if (!(await this.#tokens.isOpen(resource.id, access))) return false;
    return this.#isAdmitted(this.#restrictHolder(open, resource, request));
  }

  /** Admits this viewer to edges, which may serve the media of a private resource from their cache. */
  async admitToCache(
    resource: PlaybackResource,
    access: PrivateAccess,
    request: ViewerRequest,
  ): Promise<Answer> {
    if (resource.public) return undefined;
    const { token } = access;
    const answer = isSignedToken(token)
      ? await this.#admitSigned(resource, token, request)
      : (await this.#tokens.isSession(resource.id, access))
        ? await this.#restrictHolder(open, resource, request)
        : undefined;
    return this.#admitByHook(resource, { request, token }, answer);
  }

  async #isAdmitted(answer: Promise<Answer> | Answer): Promise<boolean> {
    const admission = await answer;
    return admission !== undefined && !(admission instanceof PlaybackRefusal);
  }

  async #admitHolder(resource: PlaybackResource, requested: PlaybackRequest, token: string): Promise<Answer> {
    if (isSignedToken(token)) return this.#admitSigned(resource, token, requested.request);
    const holder = await this.#tokens.admit({ ...requested, resourceId: resource.id, token });
    return holder && this.#restrictHolder({ ...holder, isDecidedByHook: false }, resource, requested.request);
  }

  /** Restricts whoever holds a private token. */
  async #restrictHolder(
    holder: Omit<PlaybackAdmission, 'policies'>,
    resource: PlaybackResource,
    request: ViewerRequest,
  ): Promise<Answer> {
    const { limits, policy, projectId } = resource;
    const hasEnded =
      limits !== undefined &&
      (this.#clock.nowMs() >= limits.endsAtMs || !(await this.#signedTokens.hasKey(limits.signingKeyId)));
    if (hasEnded && !(await this.#isOwner(request, projectId)))
      return new PlaybackRefusal(viewerRefusals['clip-expired']);
    return this.#restrict(holder, resource, request, [limits?.policy, policy]);
  }

  async #admitSigned(resource: PlaybackResource, token: string, request: ViewerRequest): Promise<Answer> {
    const claims: SignedClaims | string = await this.#signedTokens.verify(token, resource);
    if (typeof claims === 'string') return new PlaybackRefusal(claims);
    const admission = { ...open, access: { token, avh: undefined }, ...claims };
    return this.#restrict(admission, resource, request, [claims.limits.policy, resource.policy]);
  }

  /** Admits owners, and those whom every policy admits. */
  async #restrict(
    admission: Omit<PlaybackAdmission, 'policies'>,
    { projectId }: PlaybackResource,
    request: ViewerRequest,
    policies: readonly (PlaybackPolicy | undefined)[],
  ): Promise<Answer> {
    const present = policies.filter(policy => policy !== undefined);
    for (const policy of present) {
      const reason = await this.#restrictions.refusal(request, policy);
      if (reason === undefined) continue;
      if (await this.#isOwner(request, projectId)) break;
      return new PlaybackRefusal(reason);
    }
    return { ...admission, policies: present };
  }
}

const open: PlaybackAdmission = { access: undefined, headers: [], policies: [], isDecidedByHook: false };

function publicRequest(request: ViewerRequest): PlaybackRequest {
  const query = new URLSearchParams();
  return { request, token: undefined, query, mayClaimToken: false, beginsPlayback: false, cookiePath: '' };
}
