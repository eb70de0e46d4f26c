/* Jackson.java - Jackson's data format CBOR: java Jackson encode|decode turns JSON on standard input into CBOR, or CBOR into JSON. */
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;

class Jackson {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper(), cbor = new ObjectMapper(new CBORFactory());
        ObjectMapper from = arguments[0].equals("decode") ? cbor : json, to = from == json ? cbor : json;
        System.out.write(to.writeValueAsBytes(from.readTree(System.in.readAllBytes())));
        System.out.flush();
    }
}
