import { readFileSync } from 'node:fs'

/*
 * Loaded before Davit: its clock deviates by the milliseconds in a file, which is read again all the time. As when
 * someone sets the clock; what the kernel and Docker say of the time stays.
 */

const path = process.env.TEST_CLOCK!
let deviation = 0
const { now } = Date
setInterval(() => (deviation = Number(readFileSync(path, 'utf8'))), 50).unref()
Date.now = () => now() + deviation
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length > 0 ? values : [target.now()], made) as Date,
})
