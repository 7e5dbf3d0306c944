const colourful = process.stdout.isTTY && !process.env.NO_COLOR

const paint = (code: string) => (text: string) => (colourful ? `\x1b[${code}m${text}\x1b[0m` : text)

export const bold = paint('1')
export const dim = paint('2')
export const green = paint('32')
export const red = paint('31')

export const say = (text: string) => console.log(text)
export const heading = (text: string) => say(`\n${bold(text)}`)
export const success = (text: string) => say(`${green('✓')} ${text}`)

/** A line of a deployment's log; its own colours stay where colours can be shown. */
export const logLine = (text: string) => say(`  ${colourful ? text : Bun.stripANSI(text)}`)
