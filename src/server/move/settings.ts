/** Settings about the machine, where the new server keeps its own, or that only a command reads. */
const ofMachine = [
  'DAVIT_DATA_DIR',
  'DAVIT_HOST',
  'DAVIT_PORT',
  'DAVIT_PUBLIC_ADDRESS',
  'DAVIT_CLUSTER_ADDRESS',
  'DOCKER_HOST',
  'DAVIT_BACKUP_PASSPHRASE',
]

/** The old server's settings for the new one, without addresses that only exist on one machine. */
export const movedSettings = (settings: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) =>
        !ofMachine.includes(name) &&
        /^(DAVIT|DOCKER)_[A-Z_]{1,60}$/.test(name) &&
        !/\p{Cc}/u.test(value) &&
        !(name === 'DAVIT_PUBLISH_ADDRESS' && !/^(0\.0\.0\.0|127\.[\d.]+|::1?)$/.test(value)),
    ),
  )

/** Files and folders that those settings name, and that must exist on the new server. */
export const settingFiles = (settings: Record<string, string>) =>
  Object.entries(movedSettings(settings)).flatMap(([setting, value]) => {
    const path = value.replace(/^unix:\/\//, '')
    const isUsed = setting !== 'DAVIT_EDGE_ADMIN' || settings.DAVIT_EDGE === 'external'
    return withFiles.includes(setting) && isUsed && path.startsWith('/') ? { setting, path } : []
  })

const withFiles = ['DAVIT_ACME_CA', 'DAVIT_EDGE_ADMIN', 'DAVIT_TEMPLATES_DIR']

/** Names of settings that aren't moved, but that the new server may need with other values. */
export function settingsLeft(settings: Record<string, string>) {
  const moved = movedSettings(settings)
  return Object.keys(settings).filter((name) => !(name in moved) && !ofMachine.includes(name))
}
