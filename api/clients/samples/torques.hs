-- torques.hs - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
{-# LANGUAGE OverloadedStrings #-}
import Data.Aeson
import Data.Aeson.Types (Parser, parseMaybe)
import Data.List (intercalate)
import Data.Maybe (fromJust)
import qualified Data.ByteString.Lazy.Char8 as Bytes
import Network.HTTP
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
    [url] <- getArgs
    let one = replicate 6 1 :: [Double]
        state = object ["q" .= [0, pi / 4, pi, 0, pi / 4, 0 :: Double], "qd" .= one, "qdd" .= one]
    reply <- simpleHTTP (postRequestWithBody url "application/json" (Bytes.unpack (encode state))) >>= either (die . show) pure
    let field name = decode (Bytes.pack (rspBody reply)) >>= parseMaybe (.: name)
    if rspCode reply == (2, 0, 0)
        then putStrLn (intercalate "," (map show (fromJust (field "tau") :: [Double])))
        else die (maybe "" id (field "pointer") ++ ": " ++ fromJust (field "detail"))
