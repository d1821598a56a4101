/** Prefix of entries in the data folder that are being removed. */
export const removedPrefix = '.removed-';
