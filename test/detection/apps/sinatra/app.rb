require 'sinatra/base'

class Pages < Sinatra::Base
  get('/') { 'Hello, world' }
end
