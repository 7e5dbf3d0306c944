import { Checkbox, SelectField, TextArea } from '../web/fields-view.tsx'
import type { ShownDomain } from './json.ts'

export const httpsFields = ['https', 'certificate', 'key', 'hsts'] as const

/** A certificate is pasted or uploaded. */
export const HttpsFields = ({
  domain,
  isExternal,
}: {
  domain: ShownDomain | null
  /** True when the user's own Caddy serves, and gets certificates by its own settings. */
  isExternal: boolean
}) => (
  <>
    <SelectField
      name="https"
      label="HTTPS"
      value={domain?.https ?? 'auto'}
      options={[
        {
          value: 'auto',
          label: `Automatic: ${isExternal ? 'your Caddy has' : 'Davit gets and renews'} the certificate`,
        },
        ...(isExternal && domain?.https !== 'own'
          ? []
          : [{ value: 'own', label: 'Your own certificate' }]),
        { value: 'off', label: 'Off: HTTP only' },
      ]}
      hint={
        isExternal
          ? 'The same for all paths of the domain. Certificates can’t be uploaded with DAVIT_EDGE=external: add them to your Caddy.'
          : 'The same for all paths of the domain.'
      }
    />
    {!isExternal && <OwnCertificate domain={domain} />}
    <Checkbox
      name="hsts"
      label="Tell browsers to use HTTPS only (HSTS)"
      hint="They remember it for a year: turn it on once HTTPS works reliably."
      value={domain?.hsts ?? false}
    />
  </>
)

const OwnCertificate = ({ domain }: { domain: ShownDomain | null }) => (
  <fieldset class="own-certificate form">
    <legend>For your own certificate</legend>
    {domain?.https === 'own' && (
      <p class="muted">Leave these empty to keep the current certificate.</p>
    )}
    <PemField
      name="certificate"
      label="Certificate"
      accept=".pem,.crt,.cer,text/*"
      placeholder="-----BEGIN CERTIFICATE-----"
      hint="PEM, followed by the certificates of its issuers."
    />
    <PemField
      name="key"
      label="Private key"
      accept=".pem,.key,text/*"
      placeholder="-----BEGIN PRIVATE KEY-----"
      hint="PEM, without a passphrase. It is stored encrypted and never shown again."
    />
  </fieldset>
)

type PemProps = {
  name: string
  label: string
  accept: string
  placeholder: string
  hint: string
}

const PemField = ({ accept, ...field }: PemProps) => {
  const id = `field-${field.name}_file`
  return (
    <>
      <TextArea {...field} rows={3} secret={field.name === 'key'} code />
      <div class="field upload">
        <label for={id}>or {field.label.toLowerCase()} as a file</label>
        <input id={id} class="input" type="file" name={`${field.name}_file`} accept={accept} />
      </div>
    </>
  )
}
