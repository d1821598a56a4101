export const maxProjects = 20;
export const maxProjectNameLength = 100;
export const maxPasskeyNameLength = 100;
export const passwordLength = { min: 12, max: 200 } as const;

export const maxTitleChars = 1_024;
export const maxTags = 100;
export const maxTagChars = 255;
export const maxTextTrackBytes = 8 * 1_024 * 1_024;
export const minClipMs = 1_000;
export const maxTokenTtlSeconds = 2_147_483_647;

export const maxRestreams = 5;
/** The main track and the additional ones that are delivered. */
export const maxLiveAudioTracks = 8;

/** Limit of one project. */
export const maxWebhooks = 10;
export const maxHookTimeoutSeconds = 10;
