import { join } from 'node:path'
import { makeBackup, settingsToKeep } from '../backup/make.ts'
import { describeContents } from '../backup/describe.ts'
import { parseConfig } from '../config.ts'
import type { Config } from '../config.ts'
import { installationIn } from '../db/copy.ts'
import { refuseMissing } from '../db/failures.ts'
import { connectDocker } from '../docker/index.ts'
import { readCertificates } from '../runtime/edge-container.ts'
import { bytes } from '../web/units.ts'
import { print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'
import { newPassphrase, passphraseOption } from './ask.ts'

const usage = 'davit backup FILE [--with-logs] [--certificates] [--passphrase-file FILE] [--force]'

export const backup: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage,
    names: ['file'],
    options: {
      'with-logs': { type: 'boolean' },
      certificates: { type: 'boolean' },
      force: { type: 'boolean' },
      ...passphraseOption,
    },
  })
  const config = parseConfig(env)
  const passphrase = await newPassphrase(asked, env)
  const { manifest, size } = await makeBackup({
    config,
    file: asked.file,
    passphrase,
    withLogs: asked['with-logs'] ?? false,
    certificates: asked.certificates ? certificatesOf(config) : null,
    force: asked.force ?? false,
    settings: settingsToKeep(env, { sealed: passphrase !== null }),
  })
  print(
    `${asked.file}: ${bytes(size)}, ${passphrase === null ? 'not sealed' : 'sealed'}, verified`,
    ...describeContents(manifest),
  )
  if (passphrase === null && manifest.key === 'file')
    warn('The key is in this file: anyone who has it can read every secret. Keep it safe.')
  if (passphrase === null && asked.certificates)
    warn(
      'The keys of certificates are in this file: anyone who has it can impersonate your domains.',
    )
  if (manifest.key === 'setting' && passphrase === null)
    warn('The key isn’t in this file: keep DAVIT_SECRET_KEY, or the secrets can’t be read again.')
  return 0
}

/** Read from Caddy's volume through the engine. */
function certificatesOf({ dataDir, dockerHost }: Config) {
  refuseMissing(dataDir)
  const instanceId = installationIn(join(dataDir, 'davit.db'))?.id ?? ''
  const docker = connectDocker({ host: dockerHost })
  return readCertificates({ docker, instanceId }, { signal: AbortSignal.timeout(120_000) })
}
