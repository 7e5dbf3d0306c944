import { z } from 'zod'
import { line, lines, pairs, whole } from '../web/fields.ts'
import { lineField, privateKeyField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { serverName } from './join-check.ts'
import { label, serverRoles } from './store.ts'

export const hostAddress = z
  .ipv4('must be an IPv4 address such as 10.0.0.12.')
  .refine(
    (text) => !/^(0|127|22[4-9]|2[3-5]\d)\./.test(text),
    'must be one that other servers reach.',
  )

const labelKey = z.string().regex(label.key, 'must have keys of letters, digits, dots and hyphens.')
const badLabel = 'must have values of letters, digits, dots and hyphens.'
const hasLabelValues = (labels: Record<string, string>) =>
  Object.values(labels).every((value) => label.value.test(value))

export const hostKey = line('a host key', { max: 2000 }).regex(
  /^[\w@.-]+ [A-Za-z0-9+/]+={0,3}( .*)?$/,
  'must be a type and a key, as in /etc/ssh/ssh_host_ed25519_key.pub.',
)

export const sshPort = whole('a port', { min: 1, max: 65_535 })

/** A form sends nothing for none. */
const roles = z.preprocess(
  (given) => given ?? [],
  lines(z.enum(serverRoles, 'must be apps, builds or edge.'), { max: serverRoles.length }).refine(
    (all) => new Set(all).size === all.length,
    'can have each only once.',
  ),
)

const labels = z.preprocess(
  (given) => given ?? {},
  pairs(labelKey, { max: 20 }).refine(hasLabelValues, badLabel),
)

const fields = {
  name: field(
    line('a name', { max: 60 }).regex(
      serverName,
      'must be lower-case letters, digits and hyphens.',
    ),
    { label: 'Name', code: true, isNarrow: true },
  ),
  labels: field(labels, {
    label: 'Labels',
    isLong: true,
    code: true,
    placeholder: 'zone=east',
    hint: 'One KEY=value per line, by which environments can be placed.',
  }),
  roles: field(roles, {
    label: 'Roles',
    isMany: true,
    options: [
      { value: 'apps', label: 'Apps: containers are placed there' },
      { value: 'builds', label: 'Builds: images are built there' },
      { value: 'edge', label: 'Edge: requests are accepted there' },
    ],
    initial: 'apps',
  }),
}

/** Of the login by which Davit joins it itself. */
const over = { group: 'Join it over ssh instead' }

export const createForm = z
  .object({
    name: fields.name,
    address: field(hostAddress.nullish(), {
      label: 'Address',
      placeholder: '10.0.0.12',
      hint: 'Where this server reaches it, best in a private network. Leave empty for the one by which it reaches this server.',
      code: true,
      isNarrow: true,
    }),
    roles: fields.roles.default(['apps']),
    labels: fields.labels.default({}),
    sshUser: lineField('User', {
      ...over,
      max: 64,
      hint: 'Of its ssh, who may use Docker.',
      code: true,
      isNarrow: true,
    })
      .regex(/^[A-Za-z0-9_][\w.-]*$/, 'must be a user name of letters, digits, dots and hyphens.')
      .nullish(),
    sshPort: field(sshPort.nullish(), {
      ...over,
      label: 'Port',
      hint: 'Leave empty for 22.',
      inputmode: 'numeric',
      isNarrow: true,
    }),
    sshKey: privateKeyField({
      ...over,
      hint: 'Of OpenSSH, without a passphrase. Make one for this, and put its public key into the user’s authorized_keys.',
    }).nullish(),
    hostKey: field(hostKey.nullish(), {
      ...over,
      label: 'Host key',
      placeholder: 'ssh-ed25519 AAAA…',
      hint: 'The line in /etc/ssh/ssh_host_ed25519_key.pub there. No other server is trusted with the key above.',
      code: true,
    }),
  })
  .superRefine(({ address, sshUser, sshPort, sshKey, hostKey }, { addIssue }) => {
    if (!(sshUser || sshPort || sshKey || hostKey)) return
    const needed = { address, sshUser, sshKey, hostKey }
    for (const [name, value] of Object.entries(needed))
      if (!value)
        addIssue({ code: 'custom', path: [name], message: 'is needed to join it over ssh.' })
  })

/** With an address only so that another one is refused: `refuse` of the resource. */
export const changeForm = z.object({ ...fields, address: hostAddress })
