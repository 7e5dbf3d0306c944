/** @type {import('next').NextConfig} */
export default { output: 'standalone' }
