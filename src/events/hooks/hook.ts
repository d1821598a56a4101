import { type DeliveryError, deliveryErrorCodes } from '../webhooks/delivery-error.ts';

export const hookKinds = ['publish', 'play'] as const;
export type HookKind = (typeof hookKinds)[number];

/** Decides when the hook did not. */
export const failurePolicies = ['allow', 'refuse'] as const;
type FailurePolicy = (typeof failurePolicies)[number];

/** An endpoint of a project that decides who may publish or play. */
export interface Hook {
  readonly hookId: string;
  readonly projectId: string;
  readonly kind: HookKind;
  readonly url: string;
  readonly timeoutMs: number;
  readonly onFailure: FailurePolicy;
  readonly signatureSecret: string;
  readonly createdAtMs: number;
}

/** Failures of hooks beside those of the request. */
const ownErrorCodes = ['paused', 'busy', 'response-incomplete', 'response-unusable', 'status'] as const;
export const hookErrorCodes = [...deliveryErrorCodes, ...ownErrorCodes] as const;
export type HookErrorCode = (typeof hookErrorCodes)[number];
export type HookError = DeliveryError<HookErrorCode>;

export interface HookResult {
  readonly attemptedAtMs: number;
  /** Duration with the time in the queue. */
  readonly durationMs: number;
  readonly isAllowed: boolean;
  readonly isTest: boolean;
  /** Id of the live stream or video. */
  readonly subjectId: string;
  readonly remoteAddress: string;
  readonly statusCode: number | undefined;
  /** Undefined when the hook decided itself. */
  readonly error: string | undefined;
  readonly errorCode: HookErrorCode | undefined;
  /** Start of the body. */
  readonly response: string | undefined;
}

/** Results that are kept of one hook. */
export const maxKeptResults = 20;
