import { makeBackup } from '../backup/make.ts'
import { describeContents } from '../backup/describe.ts'
import { parseConfig, settingsIn } from '../config.ts'
import { bytes } from '../web/units.ts'
import { print, readArguments, warn } from './command.ts'
import type { Command, Environment } from './command.ts'
import { newPassphrase, passphraseOption } from './ask.ts'

const usage = 'davit backup FILE [--with-logs] [--passphrase-file FILE] [--force]'

export const backup: Command = async (args, env) => {
  const asked = readArguments(args, {
    usage,
    names: ['file'] as const,
    options: { 'with-logs': { type: 'boolean' }, force: { type: 'boolean' }, ...passphraseOption },
  })
  const config = parseConfig(env)
  const passphrase = await newPassphrase(asked, env)
  const { manifest, size } = await makeBackup({
    config,
    file: asked.file,
    passphrase,
    withLogs: asked['with-logs'] ?? false,
    force: asked.force ?? false,
    settings: settingsFor(env, { sealed: passphrase !== null }),
  })
  print(
    `${asked.file}: ${bytes(size)}, ${passphrase === null ? 'not sealed' : 'sealed'}, read again and whole`,
    ...describeContents(manifest),
  )
  if (passphrase === null && manifest.key === 'file')
    warn('The key is in this file: whoever has it can read every secret. Keep it as one.')
  if (manifest.key === 'setting' && passphrase === null)
    warn('The key is not in this file: keep DAVIT_SECRET_KEY, or nothing sealed can be read again.')
  return 0
}

/** Those of this place are of no use in another one; secrets go only into what is sealed. */
function settingsFor(env: Environment, { sealed }: { sealed: boolean }) {
  const { plain, secret } = settingsIn(env)
  const { DAVIT_DATA_DIR: _place, ...told } = plain
  const { DAVIT_BACKUP_PASSPHRASE: _passphrase, ...kept } = secret
  return sealed ? { ...told, ...kept } : told
}
