/** Codecs that videos can be encoded with besides H.264, in the order of efficiency. */
export const additionalCodecs = ['hevc', 'av1'] as const;

export type AdditionalCodec = (typeof additionalCodecs)[number];
