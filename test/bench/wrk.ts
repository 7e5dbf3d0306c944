import { run, which } from '../support/machine/command.ts'
import { installPackages } from '../support/machine/packages.ts'

/** Seconds of one measurement. */
const seconds = 5

/** Finds wrk, which sends requests as fast as they are answered; Debian's where there is none. */
export async function ensureWrk() {
  if (!which('wrk')) await installPackages(['wrk'])
}

/** Requests per second over 16 connections, and milliseconds in which 99 of 100 were answered. */
export async function wrk(url: string, { host }: { host: string }) {
  const how = ['--threads', '1', '--connections', '16', '--duration', `${seconds}s`, '--latency']
  const { exitCode, output } = await run(['wrk', ...how, '--header', `Host: ${host}`, url])
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(output) ?? []
  if (exitCode !== 0 || !perSecond || !value || /Non-2xx|Socket errors/.test(output))
    throw new Error(`wrk did not measure ${url}:\n${output}`)
  const milliseconds = { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']
  return { perSecond: Number(perSecond), p99: Number(value) * milliseconds }
}
