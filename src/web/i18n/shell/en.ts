/** Texts of the shell, and of what several pages share. */
export default {};
