/*
 * For texts of other people on a terminal: root reads names, errors and titles of pages there, and none of
 * them may move the cursor, rename the window or change the direction of the text after them.
 */

/** Control characters and those that change the direction of text; line breaks and tabs are kept. */
const orders = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu

export const inLines = (text: string) => text.replaceAll(orders, '\ufffd')

/** Joins the lines too, so that the text can't look like a message of Davit. */
export const inOneLine = (text: string) => inLines(text).replaceAll(/\s*[\n\t]\s*/g, ' ')
