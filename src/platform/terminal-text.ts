/*
 * Texts that someone else wrote, for a terminal: root reads names, errors and titles of pages there, and none of
 * them may move the cursor, rename the window or turn the direction of what follows.
 */

/** What a terminal obeys instead of showing it; line breaks and tabs are left. */
const orders = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu

/** The text without what a terminal obeys, in as many lines as it has. */
export const inLines = (text: string) => text.replaceAll(orders, '\ufffd')

/** The same in one line: it can't look like a message of Davit. */
export const inOneLine = (text: string) => inLines(text).replaceAll(/\s*[\n\t]\s*/g, ' ')
