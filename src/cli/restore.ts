import { join } from 'node:path'
import { isSealed } from '../backup/read.ts'
import { restoreBackup, settingsFile } from '../backup/restore.ts'
import { describeContents, describeOutlook } from '../backup/describe.ts'
import { parseConfig } from '../config.ts'
import { print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'
import { knownPassphrase, passphraseOption } from './ask.ts'

const usage = 'davit restore FILE [--passphrase-file FILE]'

export const restore: Command = async (args, env) => {
  const asked = readArguments(args, { usage, names: ['file'] as const, options: passphraseOption })
  const config = parseConfig(env)
  const passphrase = (await isSealed(asked.file)) ? await knownPassphrase(asked, env) : null
  const manifest = await restoreBackup({ config, file: asked.file, passphrase })
  print(
    `Restored into ${config.dataDir}`,
    ...describeContents(manifest),
    ...(await describeOutlook(config)),
    '  left out  volumes, which stay with Docker; git mirrors, which are fetched again',
  )
  if (Object.keys(manifest.settings).length > 0)
    print(
      `The settings of the backup are in ${join(config.dataDir, settingsFile)}: set those that apply here.`,
    )
  if (manifest.key === 'setting' && !config.secretKey)
    warn('DAVIT_SECRET_KEY is one of them, and Davit doesn’t start without it.')
  print('Stop the original Davit if it is still running, then start this one: davit serve')
  return 0
}
