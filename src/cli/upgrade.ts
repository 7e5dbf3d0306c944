import { originAt, parseConfig } from '../config.ts'
import { nearAddress } from '../platform/hosts.ts'
import { layoutIn } from '../server/layout.ts'
import { afterStart, afterStop, beforeStart } from '../server/upgrade/hooks.ts'
import { placesOf } from '../server/upgrade/journal.ts'
import { upgradeServer } from '../server/upgrade/upgrade.ts'
import { UsageError, print, readArguments } from './command.ts'
import type { Command, Environment } from './command.ts'
import { untilSignal } from './install.ts'

const usage = 'davit upgrade [FILE or URL] [--sha256 SUM] [--timeout SECONDS] [--force]'

export const upgrade: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage,
    optional: 'source',
    options: {
      sha256: { type: 'string' },
      timeout: { type: 'string' },
      force: { type: 'boolean' },
      step: { type: 'string' },
    },
  })
  if (asked.step !== undefined) return takeStep(asked.step, env)
  const lines = await upgradeServer(
    {
      layout: layoutIn(),
      asked: asked.source ?? null,
      sha256: sumIn(asked.sha256),
      force: asked.force ?? false,
      timeout: timeoutIn(asked.timeout),
    },
    { signal: untilSignal('davit upgrade'), say: print },
  )
  print(...lines)
  return 0
}

function sumIn(text: string | undefined) {
  if (text === undefined || /^[0-9a-f]{64}$/i.test(text)) return text ?? null
  throw new UsageError('--sha256 must be 64 digits, as sha256sum prints them.')
}

function timeoutIn(text = '300') {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (seconds >= 10) return seconds
  throw new UsageError('--timeout must be seconds, from 10 to 9999.')
}

/** systemd runs these steps around a start while an upgrade is open. */
async function takeStep(step: string, env: Environment) {
  const places = placesOf(layoutIn())
  if (step === 'before-start') beforeStart(places)
  else if (step === 'after-stop') afterStop(places, env)
  else if (step === 'after-start')
    return (await afterStart(places, { origin: nearOrigin(env) })) ? 0 : 1
  else throw new UsageError(`usage: ${usage}`)
  return 0
}

/** The address at which this machine itself reaches Davit. */
function nearOrigin(env: Environment) {
  const { host, port } = parseConfig(env)
  return originAt({ host: nearAddress(host), port })
}
