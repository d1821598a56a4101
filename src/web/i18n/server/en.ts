/** Texts of the pages of settings, analytics, usage and the server. */
export default {};
