/** Texts of the pages of the account, its team, projects and activity. */
export default {};
