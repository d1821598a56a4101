/** Texts of the pages of API keys, webhooks and upload tokens. */
export default {};
