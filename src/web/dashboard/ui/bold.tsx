/** The tag `<b>` of texts. */
export const bold = { b: (text: string) => <strong>{text}</strong> };
