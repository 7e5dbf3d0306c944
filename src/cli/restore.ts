import { join } from 'node:path'
import { isSealed } from '../backup/read.ts'
import type { Manifest } from '../backup/format.ts'
import { restoreBackup, settingsFile } from '../backup/restore.ts'
import { describeContents, describeOutlook } from '../backup/describe.ts'
import { isRepository } from '../backups/server/place.ts'
import { parseConfig } from '../config.ts'
import type { Config } from '../config.ts'
import { UsageError, print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'
import { knownPassphrase, passphraseOption } from './ask.ts'
import { ofRepository, restoreFrom } from './restore-server.ts'

const usage =
  'davit restore FILE [--passphrase-file FILE], or davit restore REPOSITORY [--key-file FILE] [--identity FILE] [--until TIME] [--without NAME,…] [--dry-run]'

export const restore: Command = async (args, env) => {
  const options = { ...passphraseOption, ...ofRepository }
  const asked = readArguments(args, { usage, names: ['from'], options })
  const config = parseConfig(env)
  const { from } = asked
  if (isRepository(from)) {
    if (asked['passphrase-file'] !== undefined) throw new UsageError(`usage: ${usage}`)
    const manifest = await restoreFrom(from, { asked, config, env })
    if (manifest) await conclude(config, manifest, [])
    else print('Nothing was changed: this was a dry run.')
    return 0
  }
  const others = asked['key-file'] ?? asked.identity ?? asked.until ?? asked.without
  if (others || asked['dry-run']) throw new UsageError(`usage: ${usage}`)
  const passphrase = (await isSealed(from)) ? await knownPassphrase(asked, env) : null
  const manifest = await restoreBackup({ config, file: from, passphrase })
  await conclude(config, manifest, ['  left out  volumes, which stay with Docker'])
  return 0
}

async function conclude(config: Config, manifest: Manifest, leftOut: string[]) {
  print(
    `Restored into ${config.dataDir}`,
    ...describeContents(manifest),
    ...(await describeOutlook(config)),
    ...leftOut,
    '  left out  git mirrors, which are fetched again',
  )
  if (Object.keys(manifest.settings).length > 0)
    print(
      `The settings of the backup are in ${join(config.dataDir, settingsFile)}: set those that apply here.`,
    )
  if (manifest.key === 'setting' && !config.secretKey)
    warn('DAVIT_SECRET_KEY is one of them, and Davit doesn’t start without it.')
  print('Stop the original Davit if it is still running, then start this one: davit serve')
}
