import { z } from 'zod'
import type { Config } from '../../config.ts'
import { hostField, urlField } from '../../web/address-fields.ts'
import { unless } from '../../web/fields.ts'
import { kindForm } from '../../web/kind-form.ts'
import { lineField, privateKeyField } from '../../web/labelled-fields.ts'

/** Relative to the bucket or the home directory, or from the root; a / at its end is dropped. */
const pathField = (look: Parameters<typeof lineField>[1]) =>
  lineField('Directory', { ...look, code: true })
    .overwrite((text) => text.replace(/(?<=.)\/$/, ''))
    .regex(
      /^(?!.*(^|\/)\.{1,2}(\/|$))\/?[\p{L}\p{N}_.@ -]+(\/[\p{L}\p{N}_.@ -]+)*$/u,
      'must be a path of letters, digits, spaces and . _ @ -, without “.” and “..” in it.',
    )

const password = lineField('Repository key', {
  ...{ min: 8, max: 200 },
  type: 'password',
  hint: 'Leave empty for a new repository: Davit creates its key and shows it once. To use one that exists, enter its key.',
  code: true,
}).nullish()

export const targetForm = (config: Pick<Config, 'allowHosts'>) =>
  kindForm(
    config,
    { name: lineField('Name', { max: 60, placeholder: 'offsite' }) },
    {
      s3: {
        label: 'S3',
        fields: () => ({
          endpoint: urlField('Endpoint', config, {
            example: 'https://s3.example.com',
            isOrigin: true,
            placeholder: 'https://s3.eu-central-1.amazonaws.com',
            hint: 'Of Amazon S3 or any server with its API, such as R2, B2, Wasabi, Hetzner or MinIO.',
            code: true,
          }),
          bucket: lineField('Bucket', { max: 63, code: true, isNarrow: true }).regex(
            /^[A-Za-z0-9][\w.-]+$/,
            'must be a bucket’s name: letters, digits, dots and hyphens.',
          ),
          region: lineField('Region', { max: 60, code: true, isNarrow: true })
            .regex(/^[\w-]+$/, 'must be a region such as eu-central-1.')
            .nullish(),
          path: pathField({
            max: 200,
            hint: 'In the bucket. Leave empty to use all of it.',
          }).nullish(),
          accessKey: lineField('Access key', { max: 200, code: true }),
          secretKey: lineField('Secret key', {
            max: 500,
            code: true,
            type: 'password',
            hint: 'It must be allowed to list, read, write and delete in the bucket.',
          }),
        }),
      },
      sftp: {
        label: 'SFTP',
        fields: () => ({
          host: hostField('Host', config, {
            mayHavePort: true,
            placeholder: 'backup.example.com',
            hint: 'With its port, if it isn’t 22: backup.example.com:2222.',
            isNarrow: true,
          }),
          user: lineField('User', { max: 64, code: true, isNarrow: true }).regex(
            /^[A-Za-z0-9_][\w.@-]*$/,
            'must be a user name of letters, digits, dots and hyphens.',
          ),
          path: pathField({
            max: 500,
            placeholder: 'backups/davit',
            hint: 'From the user’s home, or from the root with a / first.',
          }),
          key: privateKeyField({
            hint: 'Of OpenSSH, without a passphrase. Its public key must be in the user’s authorized_keys.',
          }).superRefine(unless(whyNotKey)),
          hostKey: lineField('Host key', {
            max: 2000,
            code: true,
            placeholder: 'ssh-ed25519 AAAA…',
            hint: 'Leave empty to trust the one that it shows now. Only that is accepted from then on.',
          })
            .regex(
              /^[\w@.-]+ [A-Za-z0-9+/]+={0,3}$/,
              'must be a type and a key, as in /etc/ssh/ssh_host_ed25519_key.pub.',
            )
            .nullish(),
        }),
      },
      rest: {
        label: 'REST server',
        fields: () => ({
          url: urlField('URL', config, {
            example: 'https://backup.example.com:8000',
            hint: 'Of restic’s rest-server, with the path of the repository if it has several.',
            code: true,
          }),
          user: lineField('User', { max: 200, code: true, isNarrow: true }).nullish(),
          userPassword: lineField('Password', {
            max: 500,
            code: true,
            isNarrow: true,
            type: 'password',
          }).nullish(),
        }),
      },
      directory: {
        label: 'Directory',
        adminOnly: true,
        fields: () => ({
          path: pathField({
            max: 500,
            placeholder: '/mnt/backups',
            hint: 'On this server. A backup on the same disk is lost with it: use another disk, or a mounted share.',
          }).regex(/^\//, 'must begin with a /.'),
        }),
      },
    },
    { password },
  )

export type TargetInput = z.output<ReturnType<typeof targetForm>>

function whyNotKey(text: string) {
  const body =
    /^-----BEGIN ([A-Z ]*)PRIVATE KEY-----\n([\s\S]+)\n-----END \1PRIVATE KEY-----$/.exec(
      text.trim().replaceAll('\r\n', '\n'),
    )?.[2]
  if (!body) return 'must be the whole text of a private key, from BEGIN to END.'
  const isLocked = /ENCRYPTED/.test(text) || Buffer.from(body, 'base64').includes('bcrypt')
  return isLocked ? 'has a passphrase. Enter a key without one, made for these backups.' : null
}
